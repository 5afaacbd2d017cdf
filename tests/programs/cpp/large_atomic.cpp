// Atomics larger than any instruction handles.
// flags: -latomic
#include <atomic>
#include <cstdio>
#include <thread>

struct Big {
    long a, b, c;
    bool operator==(const Big &) const = default;
};
static std::atomic<Big> big;
static int data;

int main() {
    std::thread writer([] {
        data = 5;
        big.store(Big{1, 2, 3}, std::memory_order_release);
    });
    std::thread reader([] {
        while (big.load(std::memory_order_acquire).c != 3) {
            std::this_thread::yield();
        }
        std::printf("%d\n", data);
    });
    writer.join();
    reader.join();
    std::thread threads[2];
    for (auto &thread : threads) {
        thread = std::thread([] {
            for (int i = 0; i < 100; i++) {
                Big old = big.load(), next;
                do {
                    next = old;
                    next.a++;
                } while (!big.compare_exchange_weak(old, next));
            }
        });
    }
    for (auto &thread : threads) thread.join();
    std::printf("%ld %ld\n", big.load().a, big.exchange(Big{}).b);
}
