// The same stack with a relaxed exchange on push: the node's contents are not published.
#include <atomic>

#include "../include/threads.hpp"

struct Node {
    int value;
    Node *next;
};

std::atomic<Node *> head;

int main() {
    int sum = 0;
    Node node;
    together(
        [&] {
            node.value = 7; //~ RACE value
            node.next = head.load(std::memory_order_relaxed); //~ RACE next
            head.store(&node, std::memory_order_relaxed);
        },
        [&] {
            Node *found;
            while (!(found = head.load(std::memory_order_acquire))) {
                std::this_thread::yield();
            }
            sum += found->value; //~ RACE value
            sum += found->next != nullptr; //~ RACE next
        });
    std::printf("%d\n", sum);
}
