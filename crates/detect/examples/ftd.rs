//! x
use deadheat_detect::{Analysis, Driver, baseline::Empty, fasttrack::FastTrack};
use deadheat_trace::Source;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let mode = std::env::args().nth(2).unwrap_or_default();
    for _ in 0..std::env::args().nth(3).map_or(3, |a| a.parse().unwrap()) {
        let mut d: Box<dyn Analysis> = if mode == "empty" {
            Box::new(Driver::new(Empty))
        } else {
            Box::new(Driver::new(FastTrack::default()))
        };
        let mut src = deadheat_trace::open(std::path::Path::new(&path)).unwrap();
        let mut block = Vec::new();
        let st = std::time::Instant::now();
        let mut n = 0;
        while src.next_block(&mut block).unwrap() {
            n += block.len();
            if mode != "decode" {
                d.process(&block, src.tables(), &mut |_| ());
            }
        }
        let el = st.elapsed().as_secs_f64();
        println!("{:.1} M ev/s", n as f64 / el / 1e6);
    }
}
