// Two threads meet by something that is in a list or a map of the program's for one call only. libstdc++ links the nodes, which nobody has
// instrumented.
// library: opaque.c
// rules: opaque.rules
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>

#include "../programs/include/threads.hpp"

// As in opaque.h, which is for C.
extern "C" {
struct opaque_slot;
opaque_slot *opaque_slot_new(void);
void opaque_put(opaque_slot *slot, void *pointer);
void *opaque_look(opaque_slot **table, int at);
void *opaque_get_by(void *block, int at, int place);
}

namespace {

enum { ROUNDS = 20, WAYS = 2, PLACES = 4000 };

// Large, so that not every call looks at all of it.
struct holder {
    opaque_slot *table[PLACES] = {};
    // The first word leads to the first node, whose third word is the element.
    std::list<opaque_slot *> list;
    // The third word leads to the topmost node, whose sixth word is the element.
    std::map<long, opaque_slot *> map;
};

opaque_slot *slots[WAYS][ROUNDS];
long data[WAYS][ROUNDS];

int word(holder &all, void *member) {
    return static_cast<int>(static_cast<char *>(member) - reinterpret_cast<char *>(&all)) / 8;
}

void reader() {
    auto *all = new holder;
    long sum = 0;
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            for (int n = 0; n < i; n++) {
                if (opaque_look(all->table, i)) {
                    abort();
                }
            }
            if (way == 0) {
                all->list.push_back(slots[way][i]);
            } else {
                all->map[i] = slots[way][i];
            }
            next_turn();
            void *found = way == 0 ? opaque_get_by(all, word(*all, &all->list), 2)
                                   : opaque_get_by(all, word(*all, &all->map) + 2, 5);
            all->list.clear();
            all->map.clear();
            sum += *static_cast<long *>(found);
        }
    }
    std::printf("%ld\n", sum);
    delete all;
}

void writer() {
    for (int way = 0; way < WAYS; way++) {
        for (int i = 0; i < ROUNDS; i++) {
            // Not before the other has linked it, which nobody sees.
            turn(way * ROUNDS + i + 2);
            data[way][i] = way + i;
            opaque_put(slots[way][i], &data[way][i]);
        }
    }
}

} // namespace

int main() {
    for (auto &way : slots) {
        for (auto &slot : way) {
            slot = opaque_slot_new();
        }
    }
    together(reader, writer);
}
