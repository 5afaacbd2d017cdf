// A stack of nodes linked by compare-exchange; nodes are only freed at the end.
#include <atomic>

#include "../include/threads.hpp"

struct Node {
    int value;
    Node *next;
};

std::atomic<Node *> head, bin;

void push(std::atomic<Node *> &stack, Node *node) {
    node->next = stack.load(std::memory_order_relaxed);
    while (!stack.compare_exchange_weak(node->next, node, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

int main() {
    std::atomic<int> sum;
    together(
        [] {
            for (int i = 0; i < 500; i++) {
                push(head, new Node{i, nullptr});
            }
        },
        [&] {
            for (int got = 0; got < 500;) {
                Node *all = head.exchange(nullptr, std::memory_order_acquire);
                while (all) {
                    Node *next = all->next;
                    sum += all->value;
                    push(bin, all);
                    all = next;
                    got++;
                }
                std::this_thread::yield();
            }
        });
    for (Node *node = bin; node;) {
        Node *next = node->next;
        delete node;
        node = next;
    }
    std::printf("%d\n", sum.load());
}
