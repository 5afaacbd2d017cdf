// A pool of memory for all threads, which locks; pools of each thread, which do not; memory freed by others.
#include <list>
#include <map>
#include <memory_resource>
#include <mutex>
#include <string>

#include "../include/threads.hpp"

int main() {
    std::pmr::synchronized_pool_resource shared;
    std::mutex mutex;
    std::pmr::vector<std::pmr::string *> handed(&shared);
    size_t sums[4] = {};
    for (int round = 0; round < 3; round++) {
        crowd(4, [&](int n) {
            std::pmr::unsynchronized_pool_resource own;
            std::pmr::monotonic_buffer_resource growing(&shared);
            for (int i = 0; i < 30; i++) {
                std::pmr::map<int, std::pmr::string> map(i % 2 ? (std::pmr::memory_resource *)&shared : &own);
                for (int k = 0; k < 5; k++) {
                    map.emplace(k, "a string too long to fit into the object itself");
                }
                std::pmr::list<int> list({1, 2, 3}, &growing);
                sums[n] += map.size() + list.size();
                std::pmr::polymorphic_allocator<> allocator(&shared);
                auto *text = allocator.new_object<std::pmr::string>("another string, too long for the object");
                std::lock_guard lock(mutex);
                handed.push_back(text);
                if (handed.size() > 7) {
                    auto *other = handed.front();
                    handed.erase(handed.begin());
                    sums[n] += other->size() * 0;
                    allocator.delete_object(other);
                }
            }
        });
    }
    for (auto *text : handed) {
        std::pmr::polymorphic_allocator<>(&shared).delete_object(text);
    }
    std::printf("%zu %zu %zu\n", sums[0], sums[3], handed.size());
}
