#pragma once

struct sizes {
    int width, height;
};
