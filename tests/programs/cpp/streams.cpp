// std::cout and string streams from many threads: the library that is not instrumented does its own locking.
#include <iostream>
#include <locale>
#include <mutex>
#include <sstream>

#include "../include/threads.hpp"

std::mutex mutex;

int main() {
    std::string texts[4];
    crowd(4, [&](int n) {
        std::ostringstream out;
        out.imbue(std::locale::classic());
        for (int i = 0; i < 20; i++) {
            out << n << ' ' << i * 0.5 << '\n';
        }
        texts[n] = out.str();
        std::istringstream in(texts[n]);
        int number;
        double half;
        while (in >> number >> half) {
            std::lock_guard lock(mutex);
            std::cout << '.';
        }
    });
    std::cout << texts[0].size() + texts[3].size() << std::endl;
}
