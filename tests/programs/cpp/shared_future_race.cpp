// Who gets a shared_future's reference may write through it, and so may others.
// orders: both
#include <future>

#include "../include/threads.hpp"

int main() {
    int value = 0;
    std::promise<int &> promise;
    auto future = promise.get_future().share();
    std::thread giver([&] { promise.set_value(value); });
    auto taker = [future](int n) {
        int &got = future.get();
        turn(n);
        got += n; //~ RACE value
        next_turn();
    };
    together([=] { taker(1); }, [=] { taker(2); });
    giver.join();
    std::printf("%d\n", value);
}
