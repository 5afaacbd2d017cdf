// counting_semaphore and binary_semaphore.
#include <chrono>
#include <semaphore>

#include "../include/threads.hpp"

using namespace std::chrono_literals;

int main() {
    std::counting_semaphore<4> room(4);
    std::binary_semaphore empty(1), full(0);
    int slot = 0, sum = 0;
    together(
        [&] {
            for (int i = 0; i < 100; i++) {
                empty.acquire();
                slot = i;
                full.release();
            }
        },
        [&] {
            for (int i = 0; i < 100; i++) {
                if (i % 3 == 0) {
                    full.acquire();
                } else if (i % 3 == 1) {
                    while (!full.try_acquire()) {
                        std::this_thread::yield();
                    }
                } else {
                    while (!full.try_acquire_for(100s)) {
                    }
                }
                sum += slot;
                empty.release();
            }
        });
    crowd(8, [&](int) {
        room.acquire();
        room.release();
    });
    std::printf("%d\n", sum);
}
