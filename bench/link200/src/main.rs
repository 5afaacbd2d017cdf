//! Uses a little of every crate, so that the linker has something to keep of each.

use axum::{Json, Router, routing::get};
use clap::Parser;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Parser)]
struct Args {
    #[arg(default_value_t = 1000)]
    n: u64,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Answer {
    n: u64,
    sum: u64,
}

#[tokio::main]
async fn main() {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new("warn"))
        .init();
    let n = Args::parse().n;
    let sum = (1..=n).into_par_iter().filter(|i| i % 3 == 0).sum();
    let answer = Answer { n, sum };

    let reply = answer.clone();
    let app = Router::new().route("/", get(move || async move { Json(reply) }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let got: Answer = reqwest::get(format!("http://{address}/")).await.unwrap().json().await.unwrap();
    assert_eq!(got, answer);

    let yaml: Answer = serde_yaml::from_str(&serde_yaml::to_string(&answer).unwrap()).unwrap();
    let toml: Answer = toml::from_str(&toml::to_string(&answer).unwrap()).unwrap();
    assert_eq!(yaml, toml);
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.serialize(&answer).unwrap();
    let csv = String::from_utf8(csv.into_inner().unwrap()).unwrap();
    assert!(regex::Regex::new(r"(?m)^\d+,\d+$").unwrap().is_match(&csv));
    let page = tera::Tera::one_off("{{ n }}: {{ sum }}", &tera::Context::from_serialize(&answer).unwrap(), true).unwrap();
    let mut png = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(8, 8).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let gauge = ratatui::widgets::Gauge::default().ratio(0.5);
    let mut buffer = ratatui::buffer::Buffer::empty(ratatui::layout::Rect::new(0, 0, 10, 1));
    ratatui::widgets::Widget::render(gauge, buffer.area, &mut buffer);
    println!("{page}, {} bytes", png.into_inner().len());
}
