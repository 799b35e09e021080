print("chatd")
