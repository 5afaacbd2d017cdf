// What a thread does to a static object after its registration is not ordered before its destruction.
#include <unistd.h>

#include "../include/threads.hpp"

struct Object {
    int count = 1;
    ~Object() {
        std::printf("%d\n", count); //~ RACE count
    }
};

static void use() {
    static Object object;
    object.count++; //~ RACE count
}

int main() {
    std::thread([] {
        use();
        next_turn();
        pause();
    }).detach();
    turn(2);
}
