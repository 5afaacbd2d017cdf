// A stream's own buffer is called back by the library, by two threads that share the stream.
// orders: both
#include <ostream>
#include <streambuf>

#include "../include/threads.hpp"

struct Counting : std::streambuf {
    int characters = 0;
    int overflow(int c) override {
        characters++; //~ RACE characters
        return c;
    }
};

int main() {
    Counting buffer;
    std::ostream out(&buffer);
    crowd(2, [&](int n) {
        turn(n + 1);
        out << 'x';
        next_turn();
    });
    std::printf("%d\n", buffer.characters);
}
