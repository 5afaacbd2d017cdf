// Objects that hand out owners of themselves, to threads and to one another, until nobody is left.
#include <memory>
#include <mutex>
#include <string>

#include "../include/threads.hpp"

std::mutex mutex;
int destroyed;

struct Session : std::enable_shared_from_this<Session> {
    std::string name;
    std::shared_ptr<Session> parent;
    std::mutex own;
    int requests = 0;
    Session(std::string name, std::shared_ptr<Session> parent) : name(std::move(name)), parent(std::move(parent)) {}
    virtual ~Session() {
        std::lock_guard lock(mutex);
        destroyed += requests + (int)name.size();
    }
    std::thread serve() {
        return std::thread([self = shared_from_this()] {
            std::lock_guard lock(self->own);
            self->requests++;
        });
    }
    // Part of it lives as long as all of it.
    std::shared_ptr<std::string> title() { return {shared_from_this(), &name}; }
};

int main() {
    for (int round = 0; round < 20; round++) {
        auto root = std::make_shared<Session>("root, with a name that does not fit", nullptr);
        std::weak_ptr<Session> weak = root;
        std::vector<std::thread> threads;
        for (int n = 0; n < 4; n++) {
            auto child = std::make_shared<Session>("child", root);
            threads.push_back(child->serve());
            threads.push_back(root->serve());
            threads.emplace_back([title = child->title()] { (void)title->size(); });
            threads.emplace_back([weak] {
                if (auto strong = weak.lock()) {
                    (void)strong->title()->size();
                }
            });
        }
        root.reset();
        for (auto &thread : threads) {
            thread.join();
        }
    }
    std::printf("%d\n", destroyed);
}
