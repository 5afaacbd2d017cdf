// Exceptions inside exceptions: copies of one exception_ptr are unwrapped by several threads, to the innermost.
#include <exception>
#include <stdexcept>
#include <string>

#include "../include/threads.hpp"

struct Layer : std::runtime_error {
    std::string where;
    Layer(std::string text, int depth) : std::runtime_error(text), where(text + " " + std::to_string(depth)) {}
};

[[gnu::noinline]] void fail(int depth) {
    if (depth == 0) {
        throw std::out_of_range("the innermost, with a text that does not fit into the object itself");
    }
    try {
        fail(depth - 1);
    } catch (...) {
        std::throw_with_nested(Layer("an outer layer, with a text that does not fit", depth));
    }
}

static size_t unwrap(const std::exception &error) {
    size_t length = std::string(error.what()).size();
    if (auto layer = dynamic_cast<const Layer *>(&error)) {
        length += layer->where.size();
    }
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception &inner) {
        length += unwrap(inner);
    }
    return length;
}

int main() {
    size_t total = 0;
    for (int round = 0; round < 20; round++) {
        std::exception_ptr held;
        std::thread([&] {
            try {
                fail(4);
            } catch (...) {
                held = std::current_exception();
            }
        }).join();
        size_t lengths[4];
        std::vector<std::thread> threads;
        for (int n = 0; n < 4; n++) {
            threads.emplace_back([mine = held, &lengths, n]() mutable {
                try {
                    std::exception_ptr copy = mine;
                    mine = nullptr;
                    std::rethrow_exception(std::move(copy));
                } catch (const std::exception &error) {
                    lengths[n] = unwrap(error);
                }
            });
        }
        held = nullptr;
        for (auto &thread : threads) {
            thread.join();
        }
        for (size_t length : lengths) {
            total += length;
        }
    }
    std::printf("%zu\n", total);
}
