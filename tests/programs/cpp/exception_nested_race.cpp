// Two threads unwrap the same exception and change what they find inside.
// orders: both
#include <exception>

#include "../include/threads.hpp"

struct Inner {
    int attempts = 0;
};
struct Outer {};

static void unwrapped(std::exception_ptr shared, int n) {
    try {
        std::rethrow_exception(shared);
    } catch (const std::nested_exception &outer) {
        try {
            outer.rethrow_nested();
        } catch (Inner &inner) {
            turn(n);
            inner.attempts++; //~ RACE attempts
            next_turn();
        }
    }
}

int main() {
    std::exception_ptr shared;
    try {
        try {
            throw Inner();
        } catch (...) {
            std::throw_with_nested(Outer());
        }
    } catch (...) {
        shared = std::current_exception();
    }
    together([=] { unwrapped(shared, 1); }, [=] { unwrapped(shared, 2); });
    std::puts("done");
}
