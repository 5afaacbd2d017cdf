// libstdc++'s pool for many threads: blocks of one thread are given back by another, above a resource of the user's.
#include <cstdio>
#include <list>
#include <memory_resource>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

enum { THREADS = 4, ITEMS = 100 };

struct counting : std::pmr::memory_resource {
    std::mutex mutex;
    size_t used = 0;

    void *do_allocate(size_t size, size_t alignment) override {
        std::lock_guard guard(mutex);
        used += size;
        return std::pmr::new_delete_resource()->allocate(size, alignment);
    }
    void do_deallocate(void *block, size_t size, size_t alignment) override {
        std::lock_guard guard(mutex);
        used -= size;
        std::pmr::new_delete_resource()->deallocate(block, size, alignment);
    }
    bool do_is_equal(const memory_resource &other) const noexcept override {
        return this == &other;
    }
};

std::mutex mutex;
std::list<std::pmr::string *> handed;

void work(std::pmr::memory_resource *pool) {
    std::pmr::polymorphic_allocator<> allocator(pool);
    for (int i = 0; i < ITEMS; i++) {
        auto *text = allocator.new_object<std::pmr::string>(size_t(20 + i), 'x');
        std::unique_lock lock(mutex);
        handed.push_back(text);
        if (handed.size() > 2) {
            auto *other = handed.front();
            handed.pop_front();
            lock.unlock();
            other->append("end");
            allocator.delete_object(other);
        }
    }
}

} // namespace

int main() {
    counting upstream;
    {
        std::pmr::synchronized_pool_resource pool(&upstream);
        std::vector<std::thread> threads;
        for (int i = 0; i < THREADS; i++) {
            threads.emplace_back(work, &pool);
        }
        for (auto &thread : threads) {
            thread.join();
        }
        std::pmr::polymorphic_allocator<> allocator(&pool);
        for (auto *text : handed) {
            allocator.delete_object(text);
        }
    }
    printf("%zu\n", upstream.used);
}
