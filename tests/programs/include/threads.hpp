// Threads of closures.
#ifndef THREADS_HPP
#define THREADS_HPP

#include <cstdio>
#include <thread>
#include <utility>
#include <vector>

#include "invisible.h"

// Runs two threads to their end.
template <class One, class Two>
void together(One one, Two two) {
    std::thread first(std::move(one)), second(std::move(two));
    first.join();
    second.join();
}

// Runs `count` threads to their end; each is given its number.
template <class Body>
void crowd(int count, Body body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++) {
        threads.emplace_back(body, i);
    }
    for (auto &thread : threads) {
        thread.join();
    }
}

#endif
