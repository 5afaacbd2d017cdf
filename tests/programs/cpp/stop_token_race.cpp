// A callback runs in the thread that asks to stop, after the token says so: who sees the token is not after the callback.
#include <stop_token>

#include "../include/threads.hpp"

int cleaned, asked;

int main() {
    int seen = 0;
    std::stop_source source;
    together(
        [&] {
            std::stop_callback callback(source.get_token(), [] {
                cleaned = 1; //~ RACE cleaned
                next_turn();
                turn(3);
            });
            asked = 5;
            source.request_stop();
        },
        [&, token = source.get_token()] {
            turn(2);
            while (!token.stop_requested()) {
            }
            seen = asked + cleaned; //~ RACE cleaned
            next_turn();
        });
    std::printf("%d\n", seen);
}
