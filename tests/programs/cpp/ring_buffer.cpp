// Rings on atomics: one producer and one consumer; and many of both, with a sequence number in each cell.
#include <atomic>
#include <memory>
#include <string>

#include "../include/threads.hpp"

template <class T, unsigned N>
struct Ring {
    T cells[N];
    std::atomic<unsigned> head{0}, tail{0};
    bool push(T value) {
        unsigned now = tail.load(std::memory_order_relaxed);
        if (now - head.load(std::memory_order_acquire) == N) {
            return false;
        }
        cells[now % N] = std::move(value);
        tail.store(now + 1, std::memory_order_release);
        return true;
    }
    bool pop(T &value) {
        unsigned now = head.load(std::memory_order_relaxed);
        if (tail.load(std::memory_order_acquire) == now) {
            return false;
        }
        value = std::move(cells[now % N]);
        head.store(now + 1, std::memory_order_release);
        return true;
    }
};

template <class T, unsigned N>
struct Shared {
    struct Cell {
        std::atomic<unsigned> sequence;
        T value;
    } cells[N];
    std::atomic<unsigned> in{0}, out{0};
    Shared() {
        for (unsigned i = 0; i < N; i++) {
            cells[i].sequence.store(i, std::memory_order_relaxed);
        }
    }
    bool push(T &value) {
        unsigned now = in.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells[now % N];
            int difference = int(cell.sequence.load(std::memory_order_acquire) - now);
            if (difference < 0) {
                return false;
            }
            if (difference > 0) {
                now = in.load(std::memory_order_relaxed);
            } else if (in.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) {
                cell.value = std::move(value);
                cell.sequence.store(now + 1, std::memory_order_release);
                return true;
            }
        }
    }
    bool pop(T &value) {
        unsigned now = out.load(std::memory_order_relaxed);
        for (;;) {
            Cell &cell = cells[now % N];
            int difference = int(cell.sequence.load(std::memory_order_acquire) - (now + 1));
            if (difference < 0) {
                return false;
            }
            if (difference > 0) {
                now = out.load(std::memory_order_relaxed);
            } else if (out.compare_exchange_weak(now, now + 1, std::memory_order_relaxed)) {
                value = std::move(cell.value);
                cell.sequence.store(now + N, std::memory_order_release);
                return true;
            }
        }
    }
};

Ring<std::string, 8> ring;
Shared<std::unique_ptr<int>, 8> shared;

int main() {
    size_t length = 0;
    together(
        [] {
            for (int i = 0; i < 300; i++) {
                while (!ring.push("a string too long to fit into the object itself " + std::to_string(i))) {
                    std::this_thread::yield();
                }
            }
        },
        [&] {
            std::string text;
            for (int i = 0; i < 300; i++) {
                while (!ring.pop(text)) {
                    std::this_thread::yield();
                }
                length += text.size();
            }
        });
    long sums[2] = {};
    crowd(4, [&](int n) {
        for (int i = 0; i < 100; i++) {
            if (n < 2) {
                auto value = std::make_unique<int>(i);
                while (!shared.push(value)) {
                    std::this_thread::yield();
                }
            } else {
                std::unique_ptr<int> value;
                while (!shared.pop(value)) {
                    std::this_thread::yield();
                }
                sums[n - 2] += *value;
            }
        }
    });
    std::printf("%zu %ld\n", length, sums[0] + sums[1]);
}
