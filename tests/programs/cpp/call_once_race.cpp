// Who looks at the value without call_once is not ordered after it, though the routine is over.
#include <mutex>

#include "../include/threads.hpp"

std::once_flag flag;
int value;

int main() {
    int seen = 0;
    together(
        [] {
            std::call_once(flag, [] { value = 7; }); //~ RACE value
            next_turn();
        },
        [&] {
            turn(2);
            int early = value; //~ RACE value
            std::call_once(flag, [] { value = 8; });
            seen = early + value;
        });
    std::printf("%d\n", seen);
}
