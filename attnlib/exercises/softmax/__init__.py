"""Exercises of chapter 1: `forward`, `backward`, `online`. `stable` is the softmax that other exercises use."""
