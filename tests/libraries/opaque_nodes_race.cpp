// Lists and maps of large blocks have something in them for one call only, each its own: that orders nothing.
// library: opaque.c
// rules: opaque.rules
// orders: both
#include <cstdio>
#include <list>
#include <map>

#include "../programs/include/threads.hpp"

// As in opaque.h, which is for C.
extern "C" {
struct opaque_slot;
opaque_slot *opaque_slot_new(void);
void opaque_put(opaque_slot *slot, void *pointer);
void *opaque_look(opaque_slot **table, int at);
}

namespace {

enum { PLACES = 4000 };

struct holder {
    opaque_slot *table[PLACES] = {};
    std::list<opaque_slot *> list;
    std::map<long, opaque_slot *> map;
};

int data;

void fill(int number) {
    auto *all = new holder;
    for (int i = 0; i < 50; i++) {
        opaque_slot *slot = opaque_slot_new();
        opaque_put(slot, slot);
        all->list.push_back(slot);
        all->map[i] = slot;
        opaque_look(all->table, i);
        all->list.clear();
        all->map.clear();
        opaque_look(all->table, i);
    }
    data = number; //~ RACE data
}

void one() {
    turn(1);
    fill(1);
    next_turn();
}

void two() {
    turn(2);
    fill(2);
    next_turn();
}

} // namespace

int main() {
    together(one, two);
}
