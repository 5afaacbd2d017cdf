// Michael's and Scott's queue, with hazard pointers: nodes are freed while others still look at the queue.
#include <atomic>

#include "../include/threads.hpp"

constexpr int THREADS = 4;

struct Node {
    std::atomic<Node *> next{nullptr};
    int value = 0;
};

std::atomic<Node *> hazards[THREADS][2];
thread_local int self;
thread_local std::vector<Node *> retired;
std::atomic<Node *> head, tail;

static Node *protect(int index, const std::atomic<Node *> &from) {
    for (Node *node = from.load();;) {
        hazards[self][index].store(node);
        Node *again = from.load();
        if (again == node) {
            return node;
        }
        node = again;
    }
}

static void sweep() {
    std::vector<Node *> kept;
    for (Node *node : retired) {
        bool used = false;
        for (auto &pair : hazards) {
            used |= pair[0].load() == node || pair[1].load() == node;
        }
        if (used) {
            kept.push_back(node);
        } else {
            delete node;
        }
    }
    retired = std::move(kept);
}

static void push(int value) {
    Node *node = new Node;
    node->value = value;
    for (;;) {
        Node *last = protect(0, tail);
        Node *next = last->next.load();
        if (next) {
            tail.compare_exchange_strong(last, next);
        } else if (last->next.compare_exchange_strong(next, node)) {
            tail.compare_exchange_strong(last, node);
            break;
        }
    }
    hazards[self][0].store(nullptr);
}

static bool pop(int &value) {
    bool got = false;
    for (;;) {
        Node *first = protect(0, head);
        Node *last = tail.load();
        Node *next = protect(1, first->next);
        if (head.load() != first) {
            continue;
        }
        if (!next) {
            break;
        }
        if (first == last) {
            tail.compare_exchange_strong(last, next);
            continue;
        }
        int found = next->value;
        if (head.compare_exchange_strong(first, next)) {
            value = found;
            retired.push_back(first);
            got = true;
            break;
        }
    }
    hazards[self][0].store(nullptr);
    hazards[self][1].store(nullptr);
    return got;
}

int main() {
    head = tail = new Node;
    long sums[THREADS] = {};
    crowd(THREADS, [&](int n) {
        self = n;
        for (int i = 0; i < 100; i++) {
            push(i);
            int value;
            if (pop(value)) {
                sums[n] += value;
            }
            if (retired.size() > 10) {
                sweep();
            }
        }
        while (!retired.empty()) {
            sweep();
            std::this_thread::yield();
        }
    });
    long sum = sums[0] + sums[1] + sums[2] + sums[3];
    for (int value; pop(value);) {
        sum += value;
    }
    sweep();
    delete head.load();
    std::printf("%ld\n", sum);
}
