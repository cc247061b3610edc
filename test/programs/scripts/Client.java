import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** Java's client as it is, which offers h2c with every request: each response keeps the connection. */
public class Client {
  public static void main(String[] arguments) throws Exception {
    HttpClient client = HttpClient.newHttpClient();
    URI address = URI.create(arguments[0] + "/file");
    for (int n = 0; n < 20; n++) {
      HttpRequest request = HttpRequest.newBuilder(address).header("Authorization", "Bearer " + arguments[1]).build();
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      boolean closes = answer.headers().firstValue("connection").orElse("").equals("close");
      if (answer.statusCode() != 200 || closes) throw new Exception(answer.statusCode() + " " + answer.headers().map());
    }
  }
}
