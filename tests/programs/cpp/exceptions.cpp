// Exceptions through many frames, caught, thrown again, and handed to another thread.
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>

#include "../include/threads.hpp"

std::mutex mutex;
int counter;

struct Guard {
    ~Guard() { counter++; }
};

[[gnu::noinline]] void deep(int depth) {
    Guard guard;
    if (depth == 0) {
        throw std::runtime_error("a message too long to fit into the object itself");
    }
    deep(depth - 1);
}

int main() {
    std::exception_ptr caught;
    crowd(4, [](int) {
        for (int i = 0; i < 20; i++) {
            std::lock_guard lock(mutex);
            try {
                try {
                    deep(5);
                } catch (const std::runtime_error &) {
                    counter++;
                    throw;
                }
            } catch (...) {
                counter++;
            }
        }
    });
    std::thread thrower([&] {
        try {
            std::lock_guard lock(mutex);
            deep(3);
        } catch (...) {
            caught = std::current_exception();
        }
    });
    thrower.join();
    try {
        std::rethrow_exception(caught);
    } catch (const std::exception &error) {
        std::printf("%s %d\n", error.what(), counter);
    }
}
