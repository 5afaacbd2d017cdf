// A resource of the user's under two pools counts without a lock.
// report: varies
#include "../programs/include/invisible.h"
#include <cstdio>
#include <memory_resource>
#include <thread>

namespace {

int ever;
thread_local int number;

struct counting : std::pmr::memory_resource {
    void *do_allocate(size_t size, size_t alignment) override {
        if (number) {
            // Both threads are here: no lock of the library's comes between the accesses.
            next_turn();
            turn(2 + number);
            ever++; //~ RACE ever
            next_turn();
            number = 0;
        }
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void *block, size_t size, size_t alignment) override {
        std::pmr::new_delete_resource()->deallocate(block, size, alignment);
    }
    bool do_is_equal(const memory_resource &other) const noexcept override {
        return this == &other;
    }
};

counting upstream;

void work(int mine) {
    std::pmr::synchronized_pool_resource pool(&upstream);
    number = mine;
    pool.deallocate(pool.allocate(100), 100);
}

} // namespace

int main() {
    std::thread one(work, 1), two(work, 2);
    one.join();
    two.join();
    printf("%d\n", ever);
}
