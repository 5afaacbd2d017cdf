// A routine of std::call_once that ends in an exception comes before the next try, whichever thread makes it.
#include <mutex>

#include "../include/threads.hpp"

std::once_flag flag;
int tries;

int main() {
    together(
        [] {
            turn(1);
            try {
                std::call_once(flag, [] {
                    tries++;
                    throw 1;
                });
            } catch (int) {
            }
            next_turn();
        },
        [] {
            turn(2);
            std::call_once(flag, [] { tries++; });
            next_turn();
        });
    std::printf("%d\n", tries);
}
