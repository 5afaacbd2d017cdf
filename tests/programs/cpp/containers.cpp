// Containers under a lock, const access together, different elements together.
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "../include/threads.hpp"

std::mutex mutex;
std::vector<std::string> vector;
std::map<int, std::string> map;
std::unordered_map<std::string, int> hashed;
std::list<int> list;
std::set<std::string> set;
std::deque<int> deque;

int main() {
    const std::string shared = "a constant string too long to fit into the object itself";
    std::vector<int> parts(8);
    crowd(8, [&](int n) {
        for (int i = 0; i < 50; i++) {
            std::string mine = shared.substr(n, 20) + std::to_string(i);
            parts[n] += mine.size();
            std::lock_guard lock(mutex);
            vector.push_back(mine);
            map[i] += mine;
            hashed[mine]++;
            list.push_front(i);
            set.insert(mine);
            deque.push_back(i);
            if (i % 3 == 0) {
                map.erase(i);
                list.pop_back();
                deque.pop_front();
            }
        }
    });
    std::printf("%zu %zu %zu %zu %zu %zu %d\n", vector.size(), map.size(), hashed.size(), list.size(), set.size(),
                deque.size(), parts[0]);
}
