// A hash map gets a new table while another thread looks something up in the old one.
#include <string>
#include <unordered_map>

#include "../include/threads.hpp"

std::unordered_map<int, std::string> map = {{1, "one"}, {2, "two"}};

int main() {
    size_t seen = 0;
    together(
        [&] {
            seen = map.find(2)->second.size(); //~ RACE table
            next_turn();
        },
        [] {
            turn(2);
            map.rehash(1000); //~ RACE table
        });
    std::printf("%zu %d\n", seen, map.bucket_count() >= 1000);
}
