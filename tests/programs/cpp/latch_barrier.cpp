// std::latch and std::barrier, with a completion function, arrivals without waiting and dropping out.
#include <barrier>
#include <latch>

#include "../include/threads.hpp"

constexpr int THREADS = 4;

int cells[THREADS], total, phases, afterwards[THREADS];

struct Complete {
    void operator()() noexcept {
        phases++;
        for (int cell : cells) {
            total += cell;
        }
    }
};

int main() {
    std::latch ready(THREADS), go(1);
    std::barrier barrier(THREADS, Complete{});
    int given = 0;
    std::jthread starter([&] {
        ready.wait();
        given = cells[0] + cells[3];
        go.count_down();
    });
    crowd(THREADS, [&](int n) {
        cells[n] = n;
        ready.count_down();
        go.wait();
        afterwards[n] = given;
        for (int phase = 0; phase < 20; phase++) {
            cells[n]++;
            if (phase % 2) {
                barrier.arrive_and_wait();
            } else {
                barrier.wait(barrier.arrive());
            }
            afterwards[n] += total;
        }
        if (n == 0) {
            barrier.arrive_and_drop();
        } else {
            barrier.arrive_and_wait();
        }
    });
    std::printf("%d %d %d %d\n", given, total, phases, afterwards[0] == afterwards[3]);
}
