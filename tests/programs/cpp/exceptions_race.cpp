// After an exception went through frames, the stack in the report is the right one, in the handler and after it.
// orders: both
#include "../include/threads.hpp"

int in_handler, after;

[[gnu::noinline]] void deep(int depth) {
    if (depth == 0) {
        throw depth;
    }
    deep(depth - 1);
    after = 0;
}

[[gnu::noinline]] void work(int n) {
    try {
        deep(5);
    } catch (int) {
        in_handler = n; //~ RACE handler
    }
    after = n; //~ RACE after
}

int main() {
    crowd(2, [](int n) {
        turn(n + 1);
        work(n);
        next_turn();
    });
    std::printf("%d %d\n", in_handler, after);
}
