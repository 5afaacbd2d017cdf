// Insertions into a map and a hash map while another thread asks for the size or looks something up. (The tree is
// linked by code of the library that is not instrumented; its size is counted in the header.)
#include <map>
#include <unordered_map>

#include "../include/threads.hpp"

std::map<int, int> tree = {{2, 2}};
std::unordered_map<int, int> hashed = {{2, 2}};

int main() {
    int seen = 0;
    together(
        [&] {
            seen += tree.size(); //~ RACE tree
            seen += hashed.count(3); //~ RACE hashed
            next_turn();
        },
        [] {
            turn(2);
            tree[3] = 3; //~ RACE tree
            hashed[3] = 3; //~ RACE hashed
        });
    std::printf("%d %zu %zu\n", seen, tree.size(), hashed.size());
}
