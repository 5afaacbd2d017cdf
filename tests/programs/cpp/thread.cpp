// std::thread and std::jthread: arguments, moves, stop tokens, joining at the end of the scope.
#include <atomic>
#include <string>

#include "../include/threads.hpp"

int data;

int main() {
    data = 1;
    std::thread first([](std::string text, int &out) { out += text.size(); }, std::string("four"), std::ref(data));
    std::thread moved = std::move(first);
    moved.join();
    {
        std::jthread joins([] { data++; });
    }
    long rounds = 0;
    {
        std::jthread stopped([&](std::stop_token stop) {
            while (!stop.stop_requested()) {
                rounds++;
                std::this_thread::yield();
            }
            data++;
        });
        std::stop_callback callback(stopped.get_stop_token(), [] {});
    }
    std::printf("%d\n", data);
}
