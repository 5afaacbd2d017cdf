// A memory resource of one's own that only grows, without a lock, below containers of two threads.
// orders: both
#include <memory_resource>
#include <utility>
#include <vector>

#include "../include/threads.hpp"

struct Arena : std::pmr::memory_resource {
    alignas(16) char space[1000];
    size_t used = 0;
    void *do_allocate(size_t size, size_t) override {
        return space + std::exchange(used, used + (size + 15) / 16 * 16); //~ RACE used
    }
    void do_deallocate(void *, size_t, size_t) override {}
    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

int main() {
    Arena arena;
    crowd(2, [&](int n) {
        turn(n + 1);
        std::pmr::vector<int> numbers({1, 2, n}, &arena);
        next_turn();
    });
    std::printf("%zu\n", arena.used);
}
