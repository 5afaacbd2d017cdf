// The same queue with a relaxed link: the consumer gets a node that it has not acquired.
#include <atomic>

#include "../include/threads.hpp"

struct Node {
    std::atomic<Node *> next{nullptr};
    int value = 0;
};

Node stub, nodes[1];
std::atomic<Node *> last{&stub};

int main() {
    int seen = 0;
    together(
        [] {
            nodes[0].value = 7; //~ RACE value
            Node *before = last.exchange(&nodes[0], std::memory_order_acq_rel);
            before->next.store(&nodes[0], std::memory_order_relaxed);
        },
        [&] {
            Node *next;
            while (!(next = stub.next.load(std::memory_order_acquire))) {
                std::this_thread::yield();
            }
            seen = next->value; //~ RACE value
        });
    std::printf("%d\n", seen);
}
