// Variables with constructors: of threads, inline, of templates. Each thread makes its own, at its first use; the rest is made once.
#include <atomic>
#include <map>
#include <string>

#include "../include/threads.hpp"

std::atomic<int> made, destroyed;

struct Cache {
    std::map<int, std::string> entries;
    Cache() { made++; }
    ~Cache() { destroyed += (int)entries.size(); }
    const std::string &get(int key) {
        auto &entry = entries[key];
        if (entry.empty()) {
            entry = "entry that is too long for the object itself, " + std::to_string(key);
        }
        return entry;
    }
};

inline const std::string prefix = "an inline variable with a constructor of its own";
inline thread_local Cache cache;

template <class T>
struct Holder {
    static inline thread_local T value = T(3);
    // Not from `prefix`: nothing says which of the two is made first.
    static inline const std::string name = "the name of a template, too long for the object itself";
};

int *address_of_counter() {
    thread_local int counter = (int)prefix.size();
    return &counter;
}

int main() {
    int sums[6] = {};
    for (int round = 0; round < 10; round++) {
        crowd(6, [&](int n) {
            for (int i = 0; i < 10; i++) {
                sums[n] += cache.get(i % 4).size() + Holder<int>::value++ + Holder<std::string>::name.size();
                sums[n] += ++*address_of_counter();
            }
        });
    }
    std::printf("%d %d %d %d\n", sums[0], sums[5], made.load(), destroyed.load());
}
