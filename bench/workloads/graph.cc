// A graph of nodes that own each other by shared_ptr, with weak_ptr back; threads wander through it, hold on to their way and
// count their visits. Checked by wandering again alone.
// suite: c++
// size: 1500000 quick: 3000 sweep: 200000 400000 800000 1500000
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "include/workload.h"

#ifdef RACE
// That the pointers may be shared does not mean that what they point to may.
using counter = long;
#else
using counter = std::atomic<long>;
#endif

struct node {
    long number;
    counter visits = 0;
    std::vector<std::shared_ptr<node>> next;
    std::weak_ptr<node> before;

    explicit node(long which) : number(which) {}

    void visit() {
        visits++; //~ RACE visits
    }
};

static const long LAYERS = 16, WIDTH = 64, EDGES = 4;

// Layers, each node with edges into the next layer; a node is owned by those before it.
static std::shared_ptr<node> build() {
    auto root = std::make_shared<node>(0);
    std::vector<std::shared_ptr<node>> layer{root};
    uint64_t state = 1;
    for (long depth = 1; depth <= LAYERS; depth++) {
        std::vector<std::shared_ptr<node>> following;
        for (long i = 0; i < WIDTH; i++) {
            following.push_back(std::make_shared<node>(depth * WIDTH + i));
        }
        for (const auto &from : layer) {
            for (long i = 0; i < EDGES; i++) {
                const auto &to = following[static_cast<size_t>(next_below(&state, WIDTH))];
                from->next.push_back(to);
                to->before = from;
            }
        }
        layer = std::move(following);
    }
    return root;
}

// From the root to the last layer and back; the sum of the nodes on the way.
static uint64_t wander(const std::shared_ptr<node> &root, long walk, bool counting) {
    uint64_t state = static_cast<uint64_t>(walk), sum = 0;
    if (counting) {
        root->visit();
    }
    std::vector<std::shared_ptr<node>> way{root};
    while (!way.back()->next.empty()) {
        std::shared_ptr<node> here = way.back()->next[static_cast<size_t>(next_below(&state, EDGES))];
        if (counting) {
            here->visit();
        }
        way.push_back(std::move(here));
    }
    for (auto here = way.back(); here; here = here->before.lock()) {
        sum += scramble(static_cast<uint64_t>(here->number));
    }
    for (const auto &here : way) {
        sum += static_cast<uint64_t>(here->number);
    }
    return sum;
}

int main(int count, char **words) {
    long walks = arguments(count, words, 1500000, 2, 1L << 40);
    auto root = build();
    std::vector<uint64_t> sums(static_cast<size_t>(threads));
    std::vector<std::thread> members;
    for (long me = 0; me < threads; me++) {
        members.emplace_back([&, me] {
            uint64_t sum = 0;
            for (long walk = first_of(walks, me); walk < first_of(walks, me + 1); walk++) {
                sum += wander(root, walk, true);
            }
            sums[static_cast<size_t>(me)] = sum;
        });
    }
    for (auto &member : members) {
        member.join();
    }
    uint64_t sum = 0, expected = 0;
    for (uint64_t part : sums) {
        sum += part;
    }
    for (long walk = 0; walk < walks; walk++) {
        expected += wander(root, walk, false);
    }
    return verdict(sum == expected && root->visits == walks, sum);
}
