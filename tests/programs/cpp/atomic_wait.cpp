// atomic::wait and notify, atomic_flag, atomic_ref, floating point atomics.
#include <atomic>

#include "../include/threads.hpp"

std::atomic<int> stage;
std::atomic_flag flag;
std::atomic<double> total;
int data, more, plain;

int main() {
    int sum = 0;
    together(
        [] {
            data = 1;
            stage = 1;
            stage.notify_all();
            more = 2;
            flag.test_and_set();
            flag.notify_one();
        },
        [&] {
            stage.wait(0);
            sum += data;
            flag.wait(false);
            sum += more;
        });
    crowd(4, [](int) {
        for (int i = 0; i < 100; i++) {
            std::atomic_ref(plain)++;
            total += 0.5;
        }
    });
    std::printf("%d %d %.1f\n", sum, plain, total.load());
}
