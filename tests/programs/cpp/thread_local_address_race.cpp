// The address of a thread's variable is given away, and used by another thread.
// orders: both
#include "../include/threads.hpp"

struct Counter {
    int hits;
    Counter() : hits(1) {}
};

thread_local Counter counter;

int main() {
    Counter *mine = &counter;
    together(
        [=] {
            turn(1);
            mine->hits++; //~ RACE hits
            next_turn();
        },
        [=] {
            counter.hits++;
            turn(2);
            mine->hits++; //~ RACE hits
            next_turn();
        });
    std::printf("%d\n", counter.hits);
}
