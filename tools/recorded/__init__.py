"""What is made once and stored with the chapters: answers of PyTorch, JAX and ONNX, trained models, a drawing."""
