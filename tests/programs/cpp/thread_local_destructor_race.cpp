// The destructor of a thread's object writes to a global without a lock.
#include "../include/threads.hpp"

int destroyed;

struct Local {
    int used = 0;
    ~Local() {
        destroyed++; //~ RACE destroyed
        next_turn();
    }
};

thread_local Local local;

int main() {
    std::thread thread([] { local.used++; });
    turn(2);
    int seen = destroyed; //~ RACE destroyed
    thread.join();
    std::printf("%d\n", seen);
}
