// Chase's and Lev's deque with the fences of Lê and others: the owner works at one end, thieves at the other.
#include <atomic>
#include <memory>
#include <string>

#include "../include/threads.hpp"

struct Job {
    int number;
    std::string text;
};

struct Deque {
    static constexpr long SIZE = 512;
    std::atomic<long> top{0}, bottom{0};
    std::atomic<Job *> jobs[SIZE];
    void push(Job *job) {
        long b = bottom.load(std::memory_order_relaxed);
        jobs[b % SIZE].store(job, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release);
        bottom.store(b + 1, std::memory_order_relaxed);
    }
    Job *take() {
        long b = bottom.load(std::memory_order_relaxed) - 1;
        bottom.store(b, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        long t = top.load(std::memory_order_relaxed);
        if (t > b) {
            bottom.store(b + 1, std::memory_order_relaxed);
            return nullptr;
        }
        Job *job = jobs[b % SIZE].load(std::memory_order_relaxed);
        if (t == b) {
            if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
                job = nullptr;
            }
            bottom.store(b + 1, std::memory_order_relaxed);
        }
        return job;
    }
    Job *steal() {
        long t = top.load(std::memory_order_acquire);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        long b = bottom.load(std::memory_order_acquire);
        if (t >= b) {
            return nullptr;
        }
        Job *job = jobs[t % SIZE].load(std::memory_order_relaxed);
        if (!top.compare_exchange_strong(t, t + 1, std::memory_order_seq_cst, std::memory_order_relaxed)) {
            return nullptr;
        }
        return job;
    }
};

Deque deque;
std::atomic<int> done;

int main() {
    constexpr int JOBS = 400;
    long sums[4] = {};
    crowd(4, [&](int n) {
        auto run = [&](Job *job) {
            if (job) {
                std::unique_ptr<Job> owned(job);
                sums[n] += owned->number + (long)owned->text.size();
                done.fetch_add(1, std::memory_order_relaxed);
            }
        };
        if (n == 0) {
            for (int i = 0; i < JOBS; i++) {
                deque.push(new Job{i, "a string too long to fit into the object itself"});
                if (i % 3 == 0) {
                    run(deque.take());
                }
            }
        }
        while (done.load(std::memory_order_relaxed) < JOBS) {
            run(n == 0 ? deque.take() : deque.steal());
            std::this_thread::yield();
        }
    });
    std::printf("%ld\n", sums[0] + sums[1] + sums[2] + sums[3]);
}
