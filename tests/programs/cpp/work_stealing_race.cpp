// The same deque without the fence in push: a thief gets a job whose contents it has not acquired.
#include <atomic>

#include "../include/threads.hpp"

struct Job {
    int number = 0;
};

std::atomic<long> top, bottom;
std::atomic<Job *> jobs[4];
Job job;

int main() {
    int seen = 0;
    together(
        [] {
            job.number = 7; //~ RACE job
            jobs[0].store(&job, std::memory_order_relaxed);
            bottom.store(1, std::memory_order_relaxed);
            next_turn();
        },
        [&] {
            turn(2);
            long t = top.load(std::memory_order_acquire);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            while (bottom.load(std::memory_order_acquire) <= t) {
            }
            Job *stolen = jobs[t].load(std::memory_order_relaxed);
            if (top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
                seen = stolen->number; //~ RACE job
            }
        });
    std::printf("%d\n", seen);
}
