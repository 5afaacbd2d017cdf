// Two threads share an exception and change it.
// orders: both
#include <exception>

#include "../include/threads.hpp"

struct Failure {
    int count = 0;
};

static void caught(std::exception_ptr shared, int n) {
    try {
        std::rethrow_exception(shared);
    } catch (Failure &failure) {
        turn(n);
        failure.count++; //~ RACE count
        next_turn();
    }
}

int main() {
    std::exception_ptr shared = std::make_exception_ptr(Failure());
    together([=] { caught(shared, 1); }, [=] { caught(shared, 2); });
    try {
        std::rethrow_exception(shared);
    } catch (Failure &failure) {
        std::printf("%d\n", failure.count);
    }
}
