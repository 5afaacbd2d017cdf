// A static object made by a thread that nobody joins is destroyed by the main thread: its registration comes before.
#include <string>
#include <unistd.h>

#include "../include/threads.hpp"

struct Object {
    std::string text = "made by a thread that nobody waits for, and long enough for the heap";
    ~Object() {
        std::printf("%zu\n", text.size());
        text[0] = 'x';
    }
};

static Object &object() {
    static Object one;
    return one;
}

int main() {
    std::thread([] {
        object();
        next_turn();
        pause();
    }).detach();
    turn(2);
}
