// A memory resource made by one thread is set as the default; another gets it and uses it.
#include <cstdio>
#include <memory_resource>
#include <thread>

struct Counting : std::pmr::memory_resource {
    int made = 7;
    void *do_allocate(size_t n, size_t) override { return ::operator new(n); }
    void do_deallocate(void *p, size_t, size_t) override { ::operator delete(p); }
    bool do_is_equal(const memory_resource &other) const noexcept override { return this == &other; }
};

int main() {
    auto *before = std::pmr::get_default_resource();
    std::thread setter([] { std::pmr::set_default_resource(new Counting); });
    std::thread getter([before] {
        std::pmr::memory_resource *now;
        while ((now = std::pmr::get_default_resource()) == before) {
            std::this_thread::yield();
        }
        std::printf("%d\n", static_cast<Counting *>(now)->made);
    });
    setter.join();
    getter.join();
}
