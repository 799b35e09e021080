import ChatClient
import Glibc

exit(ClientCommand.main())
