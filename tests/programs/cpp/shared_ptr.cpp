// The last owner of a shared_ptr destroys what the others used: the reference count orders it.
#include <memory>
#include <vector>

#include "../include/threads.hpp"

int destroyed;

struct Node {
    std::vector<int> numbers = std::vector<int>(100, 1);
    int slots[8] = {};
    ~Node() {
        for (int slot : slots) {
            destroyed += slot;
        }
    }
};

int main() {
    for (int round = 0; round < 50; round++) {
        auto node = std::make_shared<Node>();
        std::weak_ptr<Node> weak = node;
        std::vector<std::thread> threads;
        for (int n = 0; n < 8; n++) {
            if (n % 2) {
                threads.emplace_back([weak, n] {
                    if (auto strong = weak.lock()) {
                        strong->slots[n] += 0;
                    }
                });
            } else {
                threads.emplace_back([mine = node, n]() mutable {
                    auto copy = mine;
                    mine.reset();
                    copy->slots[n] = copy->numbers[n];
                });
            }
        }
        node.reset();
        for (auto &thread : threads) {
            thread.join();
        }
    }
    std::printf("%d\n", destroyed);
}
