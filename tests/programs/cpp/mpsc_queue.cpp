// An intrusive queue of many producers and one consumer, who frees the nodes; a link may be missing for a moment.
#include <atomic>
#include <string>

#include "../include/threads.hpp"

struct Node {
    std::atomic<Node *> next{nullptr};
    std::string text;
};

struct Queue {
    std::atomic<Node *> last;
    Node *first;
    Queue() : first(new Node) { last.store(first, std::memory_order_relaxed); }
    ~Queue() { delete first; }
    void push(std::string text) {
        Node *node = new Node;
        node->text = std::move(text);
        Node *before = last.exchange(node, std::memory_order_acq_rel);
        before->next.store(node, std::memory_order_release);
    }
    bool pop(std::string &text) {
        Node *next = first->next.load(std::memory_order_acquire);
        if (!next) {
            return false;
        }
        text = std::move(next->text);
        delete first;
        first = next;
        return true;
    }
};

int main() {
    Queue queue;
    size_t length = 0;
    crowd(4, [&](int n) {
        for (int i = 0; i < 100; i++) {
            queue.push("a string too long to fit into the object itself " + std::to_string(n));
        }
        if (n == 3) {
            std::string text;
            for (int got = 0; got < 400;) {
                if (queue.pop(text)) {
                    got++;
                    length += text.size();
                } else {
                    std::this_thread::yield();
                }
            }
        }
    });
    std::printf("%zu\n", length);
}
