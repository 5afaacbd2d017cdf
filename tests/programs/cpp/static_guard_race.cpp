// The guard orders the making of a static variable, and nothing done to it later.
// orders: both
#include "../include/threads.hpp"

struct Counter {
    int hits;
    Counter() : hits(1) {}
};

Counter &counter() {
    static Counter only;
    return only;
}

int main() {
    crowd(2, [](int n) {
        turn(n + 1);
        counter().hits++; //~ RACE hits
        next_turn();
    });
    std::printf("%d\n", counter().hits);
}
