// Locks made of atomics: a flag that is waited for, tickets, a queue of waiters (MCS), a reader-writer lock.
#include <atomic>

#include "../include/threads.hpp"

struct Flag {
    std::atomic_flag taken;
    void lock() {
        while (taken.test_and_set(std::memory_order_acquire)) {
            taken.wait(true, std::memory_order_relaxed);
        }
    }
    void unlock() {
        taken.clear(std::memory_order_release);
        taken.notify_one();
    }
};

struct Tickets {
    std::atomic<unsigned> next{0}, serving{0};
    void lock() {
        unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
        while (serving.load(std::memory_order_acquire) != mine) {
            std::this_thread::yield();
        }
    }
    void unlock() { serving.store(serving.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
};

struct Mcs {
    struct Node {
        std::atomic<Node *> next{nullptr};
        std::atomic<bool> waits{true};
    };
    std::atomic<Node *> tail{nullptr};
    void lock(Node &node) {
        Node *before = tail.exchange(&node, std::memory_order_acq_rel);
        if (before) {
            before->next.store(&node, std::memory_order_release);
            while (node.waits.load(std::memory_order_acquire)) {
                std::this_thread::yield();
            }
        }
    }
    void unlock(Node &node) {
        Node *next = node.next.load(std::memory_order_acquire);
        if (!next) {
            Node *expected = &node;
            if (tail.compare_exchange_strong(expected, nullptr, std::memory_order_release, std::memory_order_relaxed)) {
                return;
            }
            while (!(next = node.next.load(std::memory_order_acquire))) {
                std::this_thread::yield();
            }
        }
        next->waits.store(false, std::memory_order_release);
    }
};

struct ReadWrite {
    std::atomic<int> state{0};
    void read() {
        for (int now = state.load(std::memory_order_relaxed);;) {
            if (now < 0) {
                std::this_thread::yield();
                now = state.load(std::memory_order_relaxed);
            } else if (state.compare_exchange_weak(now, now + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
                return;
            }
        }
    }
    void read_end() { state.fetch_sub(1, std::memory_order_release); }
    void write() {
        for (int free = 0; !state.compare_exchange_weak(free, -1, std::memory_order_acquire); free = 0) {
            std::this_thread::yield();
        }
    }
    void write_end() { state.store(0, std::memory_order_release); }
};

Flag flag;
Tickets tickets;
Mcs mcs;
ReadWrite read_write;
int counters[4];

int main() {
    int torn[4] = {};
    crowd(4, [&](int n) {
        for (int i = 0; i < 100; i++) {
            flag.lock();
            counters[0]++;
            flag.unlock();
            tickets.lock();
            counters[1]++;
            tickets.unlock();
            Mcs::Node node;
            mcs.lock(node);
            counters[2]++;
            mcs.unlock(node);
            if (n < 2) {
                read_write.write();
                counters[3]++;
                read_write.write_end();
            } else {
                read_write.read();
                torn[n] += counters[3] < 0;
                read_write.read_end();
            }
        }
    });
    std::printf("%d %d %d %d %d\n", counters[0], counters[1], counters[2], counters[3], torn[2] + torn[3]);
}
