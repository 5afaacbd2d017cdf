// A pointer is announced after the owner has looked: the node is freed while it is read.
#include <atomic>

#include "../include/threads.hpp"

struct Node {
    int value;
};

std::atomic<Node *> current{new Node{5}}, hazard;

int main() {
    int seen = 0;
    together(
        [&] {
            Node *mine = current.load();
            seen = mine->value; //~ RACE node
            next_turn();
            turn(3);
            hazard.store(mine);
        },
        [] {
            turn(2);
            Node *old = current.exchange(nullptr);
            if (hazard.load() != old) {
                delete old; //~ RACE node
            }
            next_turn();
        });
    std::printf("%d\n", seen);
}
