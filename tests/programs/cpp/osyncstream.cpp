// Synchronised streams over one buffer of one's own; std::cout from all threads without a lock.
#include <iostream>
#include <string>
#include <syncstream>

#include "../include/threads.hpp"

struct Counting : std::streambuf {
    int characters = 0, lines = 0;
    std::string last;
    int overflow(int c) override {
        characters++;
        lines += c == '\n';
        last += (char)c;
        return c;
    }
};

int main() {
    Counting buffer;
    std::ostream out(&buffer);
    crowd(4, [&](int n) {
        for (int i = 0; i < 20; i++) {
            std::osyncstream line(out);
            line << "thread " << n << " says " << i % 10 << '\n';
            if (i % 3 == 0) {
                line.emit();
                line << "." << std::flush << "\n";
            }
            std::osyncstream(std::cout) << "." << '.';
            std::cout << ".";
        }
    });
    std::cout << "\n";
    std::printf("%d %d %zu\n", buffer.characters, buffer.lines, buffer.last.size());
}
