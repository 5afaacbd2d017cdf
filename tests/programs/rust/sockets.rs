//! Bytes over loopback hand memory over: TCP, UDP, a pair of Unix sockets, a pipe. Whoever receives comes after whoever sent.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::thread;

static mut TABLE: [[u64; 4]; 5] = [[0; 4]; 5];

fn fill(way: usize, n: u64) {
    // SAFETY: what comes through the socket says whose turn it is.
    unsafe { TABLE[way][0] += n };
}

fn taken(way: usize) -> u64 {
    // SAFETY: as above.
    unsafe {
        TABLE[way][1] += TABLE[way][0];
        TABLE[way][1]
    }
}

fn back_and_forth(way: usize, mut one: impl Read + Write + Send, mut two: impl Read + Write + Send) -> u64 {
    thread::scope(|scope| {
        scope.spawn(move || {
            for n in 0..20 {
                fill(way, n);
                one.write_all(b"x").unwrap();
                one.read_exact(&mut [0]).unwrap();
            }
        });
        scope
            .spawn(move || {
                let mut sum = 0;
                while two.read(&mut [0]).unwrap() == 1 {
                    sum += taken(way);
                    fill(way, 1);
                    two.write_all(b"y").unwrap();
                }
                sum
            })
            .join()
            .unwrap()
    })
}

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let connects = thread::spawn(move || TcpStream::connect(address).unwrap());
    let accepted = listener.accept().unwrap().0;
    let mut sums = vec![back_and_forth(0, accepted, connects.join().unwrap())];
    let (one, two) = UnixStream::pair().unwrap();
    sums.push(back_and_forth(1, one, two));

    let (one, two) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let to = two.local_addr().unwrap();
    let sends = thread::spawn(move || {
        fill(2, 7);
        one.send_to(b"packet", to).unwrap()
    });
    let mut buffer = [0; 10];
    sums.push(two.recv_from(&mut buffer).unwrap().0 as u64 + taken(2));
    sends.join().unwrap();

    let (one, two) = UnixDatagram::pair().unwrap();
    let sends = thread::spawn(move || {
        fill(3, 8);
        one.send(b"datagram").unwrap()
    });
    sums.push(two.recv(&mut buffer).unwrap() as u64 + taken(3));
    sends.join().unwrap();

    let (mut reader, mut writer) = std::io::pipe().unwrap();
    let sends = thread::spawn(move || {
        fill(4, 9);
        writer.write_all(b"piped").unwrap();
    });
    let mut text = String::new();
    sums.push(reader.read_to_string(&mut text).unwrap() as u64 + taken(4));
    sends.join().unwrap();
    println!("{sums:?}");
}
